export { type ObjectId, parseObjectId, readObjectId } from './files/object-id.ts'
export type { FileMode, PackageFile, PackageFiles } from './files/package-files.ts'
