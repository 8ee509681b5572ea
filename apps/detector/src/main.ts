import { serviceMain } from '#service';
import { DetectorModule } from './detector.module.js';

serviceMain('detector', DetectorModule);
