import { Injectable } from '@nestjs/common';
import {
  isOpenIncident,
  MusterError,
  parseSelector,
  RESERVATIONS_KEY,
  type ImportOutcome,
  type NodeImportRequest,
  type Reservations,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { page } from '../store/page.js';
import { EditsService, newEditId } from '../node-requests/edits.service.js';
import { columnsOf } from './csv-columns.js';
import { csvHead, csvLines } from './csv-file.js';
import { exportedRow } from './exported-row.js';
import { FileParser } from './file-parser.js';
import type { FileContent, FileError } from './file-row.js';
import { planImport, storedSecretsOf, type ImportPlan } from './plan-import.js';
import { yamlHead, yamlItems } from './yaml-file.js';
import { PowerSecrets } from '../node-requests/power-secrets.js';
import { ServiceView } from '../nodes/service-view.js';

/** Findings of a refused file, at most. */
const MOST_ERRORS = 100;
/** Nodes in one page of an export. */
const EXPORT_PAGE = 500;

/** Where an export goes on: behind this node, in the columns that it began with. */
interface ExportCursor {
  after: string;
  columns: string[];
}

/** Nodes as files. */
@Injectable()
export class NodeFilesService {
  private readonly parser: FileParser;

  constructor(
    private readonly store: InventoryStore,
    private readonly names: KnownNames,
    private readonly service: ServiceView,
    private readonly secrets: PowerSecrets,
    private readonly edits: EditsService,
  ) {
    this.parser = new FileParser(store.clock);
  }

  /** @throws MusterError IMPORT_INVALID with `facts.errors`, the first hundred: then nothing has changed */
  async import({ format, content, dryRun = false }: NodeImportRequest): Promise<ImportOutcome> {
    const file = await this.parser.read(format, content);
    const edit = newEditId(this.store);
    const at = this.store.clock.wallMs();
    let plan: ImportPlan | undefined;
    const prepare = async (r: Reservations): Promise<ImportPlan> => {
      plan = await this.plan(file, r.held, at, edit);
      refuseErrors([...file.errors, ...plan.errors]);
      return plan;
    };
    if (dryRun) await prepare(await this.reservations());
    else await this.edits.apply(edit, prepare);
    const { created = [], updated = [], unchanged = [] } = plan ?? {};
    return { dryRun, created, updated, unchanged };
  }

  export(q: RpcRequest<'inventory.nodes.export'>): RpcAnswer<'inventory.nodes.export'> {
    const selects = q.selector === undefined ? (): boolean => true : parseSelector(q.selector);
    const from = q.cursor === undefined ? undefined : readCursor(q.cursor);
    const all = this.service.list().filter(selects);
    const { items, next } = page(all, { limit: EXPORT_PAGE, ...(from && { cursor: from.after }) }, (n) => n.name);
    const rows = items.map(exportedRow);
    const columns = q.format === 'yaml' ? [] : (from?.columns ?? columnsOf(all.map(exportedRow)));
    const head = from ? '' : q.format === 'yaml' ? yamlHead(all.length === 0) : csvHead(columns);
    const text = head + (q.format === 'yaml' ? yamlItems(rows) : csvLines(rows, columns));
    return {
      text,
      ...(next !== undefined && { next: JSON.stringify({ after: next, columns } satisfies ExportCursor) }),
    };
  }

  private async plan(file: FileContent, held: Reservations['held'], at: number, edit: string): Promise<ImportPlan> {
    const [nodes, incidents] = await Promise.all([this.store.nodes.bucket.list(), this.store.incidents.bucket.list()]);
    const records = new Map(nodes.map((e) => [e.key, e.value]));
    const open = new Map(incidents.flatMap((e) => (isOpenIncident(e.value) ? [[e.key, e.value] as const] : [])));
    const facts = {
      nodes: records,
      addressesOf: (name: string) => this.names.of(name),
      held,
      groups: this.store.clusterSettings.hostGroups,
      offered: (service: 'provisioner' | 'fencer') => this.service.offered(service),
      incident: (node: string) => open.get(node),
      isStored: await this.secrets.known(storedSecretsOf(file.rows, records)),
    };
    return planImport(this.store.clock, file.rows, facts, at, edit);
  }

  private async reservations(): Promise<Reservations> {
    const entry = await this.store.reservations.bucket.get(RESERVATIONS_KEY);
    return entry?.value ?? { held: {}, pending: {}, generation: 0 };
  }
}

function refuseErrors(errors: FileError[]): void {
  const [first] = errors;
  if (!first) return;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new MusterError('IMPORT_INVALID', `nothing is imported: line ${first.line}: ${first.message}${more}`, {
    errors: errors.slice(0, MOST_ERRORS),
    found: errors.length,
  });
}

function readCursor(text: string): ExportCursor {
  try {
    const { after, columns } = JSON.parse(text) as Partial<ExportCursor>;
    if (typeof after === 'string' && Array.isArray(columns)) return { after, columns };
  } catch {
    // Said below.
  }
  throw new MusterError('BAD_REQUEST', 'the cursor is not one that an export has answered');
}
