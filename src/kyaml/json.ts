export {
  canonicalJson,
  emptyObject,
  formatJson,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  objectsIn,
  parseJson,
  partOf,
  setKey,
  textOf,
  textsIn,
} from './text/json.ts'
export { DEEPEST, isDeeperThan } from './text/json-depth.ts'
export { parsePointer } from './text/json-pointer.ts'
