export type { CredentialOptions } from './adapter/forge-adapter.ts'
export { findRemoteHost, parseForgeAddress } from './adapter/forge-address.ts'
export { findForgeToken, findGitToken } from './registry/forge-token.ts'
export { ALL_FORGES, FORGES } from './registry/forges.ts'
