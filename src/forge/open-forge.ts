export { findForgeSetup, openForge, probeForge } from './registry/open-forge.ts'
