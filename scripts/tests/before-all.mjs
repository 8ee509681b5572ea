import chooseNats from '../../libs/bus/src/testing/choose-nats.mjs';
import { linkPackages } from './linked-packages.mjs';

/** Jest's global set-up. */
export default async function beforeAll() {
  await linkPackages();
  await chooseNats();
}
