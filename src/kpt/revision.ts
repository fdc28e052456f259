export {
  listPackageRevisions,
  type PackageRevision,
  type PorchListing,
  type PorchRepository,
  revisionRefs,
} from './package/package-revision.ts'
export { isRenderingMessage, isSameRendered } from './package/porch-rendering.ts'
