/** Credentials of git for an address. */
export { findCredential } from './protocol/git-credential.ts'
