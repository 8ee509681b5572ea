import { Controller, type OnModuleInit } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService } from '../store/audit.service.js';
import { SettingsService } from './settings.service.js';

@Controller()
export class SettingsController implements OnModuleInit {
  constructor(
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): Promise<void> {
    return this.settings.writeInitial();
  }

  @Rpc('inventory.settings.get')
  get(): Promise<RpcAnswer<'inventory.settings.get'>> {
    return this.settings.get();
  }

  @Rpc('inventory.globals.put')
  putGlobals(q: RpcRequest<'inventory.globals.put'>): Promise<RpcAnswer<'inventory.globals.put'>> {
    const detail = q.extraVars === undefined ? 'unchanged' : Object.keys(q.extraVars).join(', ');
    return this.audit.of(q.by, 'globals', 'globals', detail, async () => ({
      extraVars: await this.settings.putGlobals(q.extraVars),
    }));
  }
}
