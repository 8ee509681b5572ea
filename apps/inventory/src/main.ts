import { serviceMain } from '#service';
import { InventoryModule } from './inventory.module.js';

serviceMain('inventory', InventoryModule);
