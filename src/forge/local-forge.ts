export { LocalForge } from './local/local-forge.ts'
