/** Git alone, without a forge. */
export { LocalForge } from './local/local-forge.ts'
