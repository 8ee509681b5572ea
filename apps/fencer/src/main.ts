import { serviceMain } from '#service';
import { FencerModule } from './fencer.module.js';

serviceMain('fencer', FencerModule);
