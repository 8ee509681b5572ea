/** Before each request to JetStream, in the account that holds the streams. */
export const StoreApi = '$JS.API';

/**
 * The same for a service with an account of its own: there `$JS.API` is the server's, for streams of that account, and
 * answers that there can be none.
 */
export const OwnApi = 'muster.js';
