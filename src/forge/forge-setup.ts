/** Kinds of forges, and how one is set up. */
export { FORGE_KINDS, type ForgeKind, type ForgeSetup, GIT_ALONE } from './ports/forge-setup.ts'
