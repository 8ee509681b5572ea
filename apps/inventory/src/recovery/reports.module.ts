import { Module } from '@nestjs/common';
import { CollateralWatch } from './collateral-watch.js';
import { ReportsView } from './reports-view.js';

@Module({ providers: [CollateralWatch, ReportsView], exports: [CollateralWatch, ReportsView] })
export class ReportsModule {}
