/** Objects and packs, for tests. */
export type { FileOperations } from './objects/atomic-fs.ts'
export { indexPack } from './objects/index-pack.ts'
export { DamagedCache, ObjectCache } from './objects/object-cache.ts'
export { BrokenObject, gitObject, parseCommit } from './objects/object-format.ts'
export { OversizedObject, readPackEntries } from './objects/pack-entries.ts'
export { pathSegments } from './objects/path-policy.ts'
