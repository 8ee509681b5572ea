import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { PowerReader } from './power-reader.js';

@Controller()
export class PowerController {
  constructor(private readonly reader: PowerReader) {}

  @Rpc('fencer.power.read')
  async read(@Payload() q: RpcRequest<'fencer.power.read'>): Promise<RpcAnswer<'fencer.power.read'>> {
    return { devices: await this.reader.read(q.node, q.devices) };
  }

  @Rpc('fencer.power.identify')
  async identify(@Payload() q: RpcRequest<'fencer.power.identify'>): Promise<RpcAnswer<'fencer.power.identify'>> {
    return { devices: await this.reader.identify(q.node, q.quick === true) };
  }
}
