export { FORGE_KINDS, type ForgeKind, type ForgeSetup, GIT_ALONE } from './ports/forge-setup.ts'
