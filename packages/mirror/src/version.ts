/** What receipts say wrote them. A test holds it equal to package.json. */
export const ENGINE_VERSION = '0.1.0';
