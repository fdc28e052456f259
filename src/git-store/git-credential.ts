export { findCredential } from './protocol/git-credential.ts'
