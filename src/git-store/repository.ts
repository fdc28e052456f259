export { openCheckedOut } from './repository/checked-out.ts'
export { type CacheNote, openRepository, type RepositoryOptions } from './repository/repository.ts'
