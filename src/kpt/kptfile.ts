/** Kptfiles and what Porch writes beside them. */
export {
  formatKptAnnotation,
  type KptAnnotation,
  parseKptAnnotations,
  workspaceIn,
} from './package/kpt-annotation.ts'
export { type Kptfile, readKptfile } from './package/kptfile.ts'
