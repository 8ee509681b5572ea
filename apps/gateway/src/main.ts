import { serviceMainWith } from '#service';
import { startGateway } from './gateway.js';

serviceMainWith('gateway', startGateway);
