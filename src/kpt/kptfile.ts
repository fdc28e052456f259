export {
  findAnnotatedWorkspace,
  formatKptAnnotation,
  type KptAnnotation,
  parseKptAnnotations,
} from './package/kpt-annotation.ts'
export { readKptfile } from './package/kptfile.ts'
export type { Kptfile } from './package/kptfile-value.ts'
