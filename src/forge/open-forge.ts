/** Opens the forge of a remote. */
export { findForgeSetup, openForge, probeForge } from './registry/open-forge.ts'
