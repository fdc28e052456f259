export type { CredentialOptions } from './adapter/forge-adapter.ts'
export { hostOf, parseForgeAddress } from './adapter/forge-address.ts'
export { gitTokenFor, tokenFor } from './registry/forge-token.ts'
export { ALL_FORGES, FORGES } from './registry/forges.ts'
