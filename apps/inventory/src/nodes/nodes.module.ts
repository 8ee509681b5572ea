import { Module } from '@nestjs/common';
import { CordonEndReconciler } from './cordon-end.reconciler.js';

@Module({ providers: [CordonEndReconciler] })
export class NodesModule {}
