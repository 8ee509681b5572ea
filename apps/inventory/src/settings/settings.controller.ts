import { Controller, type OnModuleInit } from '@nestjs/common';
import { changedPaths, type RpcAnswer, type RpcRequest } from '#contracts';
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
    return this.audit.of(q, 'globals', 'globals', detail, async () => ({
      extraVars: await this.settings.putGlobals(q.extraVars),
    }));
  }

  @Rpc('inventory.settings.patch')
  patch(q: RpcRequest<'inventory.settings.patch'>): Promise<RpcAnswer<'inventory.settings.patch'>> {
    const detail = changedPaths({}, q.patch).join(', ');
    return this.audit.of(q, 'settings', 'settings', detail, () => this.settings.patch(q.patch, q.revision));
  }

  @Rpc('inventory.config.get')
  async getConfig(): Promise<RpcAnswer<'inventory.config.get'>> {
    return { config: await this.settings.clustermConfig() };
  }

  @Rpc('inventory.config.put')
  putConfig(q: RpcRequest<'inventory.config.put'>): Promise<RpcAnswer<'inventory.config.put'>> {
    const detail = changedPaths({}, q.config).join(', ');
    return this.audit.of(q, 'config', 'settings', detail, async () => ({
      config: await this.settings.putClustermConfig(q.config),
    }));
  }
}
