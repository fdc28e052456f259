export {
  listPackageRevisions,
  type PackageRevision,
  type PorchListing,
  type PorchRepository,
  selectRevisionRefs,
} from './package/package-revision.ts'
export { isRenderingMessage, isSameRendered } from './package/porch-rendering.ts'
