import { Controller, Get, Res } from '@nestjs/common';
import { ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MusterError, toldOutside } from '#contracts';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { Metrics } from './metrics.js';
import { StoreHealth } from '../store/store-health.js';

/** Who asks whether we are ready (a load balancer, `muster` for 3 s) asks somebody else where we do not say so by then, ms. */
const READY_LIMIT_MS = { single: 2_000, cluster: 2_000 };

@ApiTags('health')
@Controller()
export class HealthController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly metrics: Metrics,
    private readonly store: StoreHealth,
  ) {}

  @Get('healthz')
  @Allow(
    'anyone',
    'This process runs',
    '`store` says in a line what keeps the store of NATS from its work; `GET /v1/status` says where and what to do.',
  )
  alive() {
    const fault = this.store.fault;
    // Still 200: whoever restarts a process that is not well would change nothing.
    return { status: 'ok', ...(fault !== undefined && { store: fault.summary }) };
  }

  @Get('readyz')
  @ApiServiceUnavailableResponse({ description: 'Not ready, with the reason' })
  @Allow('anyone', 'Requests can be answered: NATS and inventory are there', '503 with the reason where they are not.')
  async ready(@Res() reply: FastifyReply) {
    try {
      const fault = this.store.fault;
      if (fault !== undefined) throw new MusterError('BUS_UNAVAILABLE', fault.summary);
      await this.rpc.read('inventory.settings.get', {}, READY_LIMIT_MS);
      await reply.send({ status: 'ok' });
    } catch (error) {
      const { code, message } = toldOutside(MusterError.from(error));
      await reply.status(503).header('retry-after', 1).send({ status: 'not ready', code, detail: message });
    }
  }

  @Get('metrics')
  @Allow('viewer', 'Prometheus metrics')
  async scrape(@Res() reply: FastifyReply) {
    await reply.type(this.metrics.contentType).send(await this.metrics.text());
  }
}
