export { type ObjectId, objectId, readObjectId } from './files/object-id.ts'
export type { FileMode, PackageFile, PackageFiles } from './files/package-files.ts'
