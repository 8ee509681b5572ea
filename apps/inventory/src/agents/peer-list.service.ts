import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  fromToken,
  MusterError,
  Subjects,
  type KeysAnswer,
  type KeysQuestion,
  type PeerList,
  type Timer,
} from '#contracts';
import type { Closable } from '#bus';
import { ServiceContext } from '#service';
import { NodeService } from '../nodes/node.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import { arrived } from './enrolment.js';
import { fleetContent, fleetHash, FleetLists } from './peer-list.js';

/** Key of bucket `settings` that counts the lists' versions, the same for all replicas. */
const VERSION_KEY = 'peer-list';
interface ListVersion {
  version: number;
  hash: string;
}
/** Changes within this time of each other are one new version, ms. */
const SETTLE_MS = 20;
/** So long an agent waits for the list that names it, ms; where the view is later, it is told and asks again. */
const WELCOME_MS = 1_000;

/** Answers the agents' requests for their peers, and tells them when to ask anew. */
@Injectable()
export class PeerListService implements OnApplicationBootstrap, OnApplicationShutdown {
  private current: { hash: string; lists: FleetLists } | undefined;
  private dirty = true;
  private refreshing: Promise<void> | undefined;
  private timer: Timer | undefined;
  private answers: Closable | undefined;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly keys: DatagramKeysService,
    private readonly context: ServiceContext,
  ) {}

  onApplicationBootstrap(): void {
    const changed = (): void => this.noteChange();
    this.stops.push(this.store.nodes.view.onChange(changed), this.store.settings.view.onChange(changed));
    this.answers = this.store.bus.answer<KeysQuestion, PeerList & KeysAnswer>(
      Subjects.peers('*'),
      (q, subject) => this.answer(fromToken(subject.slice(Subjects.peers('').length)), q),
      { queue: 'inventory' },
    );
    this.noteChange();
  }

  async onApplicationShutdown(): Promise<void> {
    this.timer?.cancel();
    this.stops.forEach((stop) => stop());
    await this.answers?.close();
    await this.refreshing;
  }

  /** The keys of this very list: an agent that has both is as far as the list says. */
  private async answer(node: string, q: KeysQuestion): Promise<PeerList & KeysAnswer> {
    const list = await this.listOf(node);
    try {
      return { ...list, ...(await this.keys.answer(list.keys, q)) };
    } catch (err) {
      // Peers are worth more than keys: with those that it has it is heard by all that are not two steps further.
      this.store.bus.log.warn({ err, node }, 'an agent got its peers, but not the keys that it lacks');
      return list;
    }
  }

  /** @throws MusterError NODE_UNKNOWN where no agent is expected on that node */
  async listOf(node: string): Promise<PeerList> {
    await this.refresh();
    if (this.current?.lists.of(node) === undefined) await this.welcome(node);
    const list = this.current?.lists.of(node);
    if (!list) throw new MusterError('NODE_UNKNOWN', `no enrolled node is called ${node}: register it first`, { node });
    return list;
  }

  /** Only a node's own agent can ask in its name: that it asks says that it is there. */
  private async welcome(node: string): Promise<void> {
    const { revision } = await this.nodes.change(node, arrived, 'its agent asks for its peers');
    await this.store.nodes.view.shows(revision, WELCOME_MS);
    this.dirty = true;
    await this.refresh();
  }

  private noteChange(): void {
    this.dirty = true;
    this.timer ??= this.store.clock.after(SETTLE_MS, () => {
      this.timer = undefined;
      this.refresh().catch((err: unknown) => {
        this.store.bus.log.warn({ err }, 'the peer lists could not be renewed: agents keep the ones they have');
        this.noteChange();
      });
    });
  }

  /** One at a time; those who come meanwhile share it. */
  private async refresh(): Promise<void> {
    while (this.dirty || !this.current) {
      this.refreshing ??= this.renew().finally(() => (this.refreshing = undefined));
      await this.refreshing;
    }
  }

  private async renew(): Promise<void> {
    this.dirty = false;
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const content = fleetContent(nodes, this.store.clusterSettings, this.keys.current, this.context.config.agents.nats);
    const hash = fleetHash(content);
    if (this.current?.hash === hash) return;
    try {
      const done = await this.store.bus.bucket<ListVersion>('settings').mutate(VERSION_KEY, (stored) => {
        if (stored?.value.hash === hash) return undefined;
        return { version: (stored?.value.version ?? 0) + 1, hash };
      });
      const lists = new FleetLists(content, done.value?.version ?? 0);
      const names = new Set([...(this.current?.lists.names ?? []), ...lists.names]);
      this.current = { hash, lists };
      // Every replica tells when its own lists are new: an agent that was told by a faster one may have asked this one,
      // and got the list before.
      for (const name of names) this.store.bus.publish(Subjects.peersChanged(name), {});
    } catch (e) {
      this.dirty = true;
      throw e;
    }
  }
}
