import { serviceMain } from '#service';
import { ProvisionerModule } from './provisioner.module.js';

serviceMain('provisioner', ProvisionerModule);
