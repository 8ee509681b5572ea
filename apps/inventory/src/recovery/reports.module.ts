import { Module } from '@nestjs/common';
import { ReportsView } from './reports-view.js';

@Module({ providers: [ReportsView], exports: [ReportsView] })
export class ReportsModule {}
