export { cleanPath, goClean } from './package/clean-path.ts'
export {
  derivePackageSlug,
  deriveRootPackageName,
  type FoundPackage,
  findPackages,
  normalizePackagePath,
  ROOT_FOLDER,
  selectPackages,
} from './package/find-packages.ts'
export { isKustomizationFile, KUSTOMIZATION_NAMES } from './package/kustomization-names.ts'
export { isKptfile, isReadOf, PackageSources } from './package/package-sources.ts'
export { PACKAGE_FILE } from './package/walk-package.ts'
