export {
  emptyObject,
  filterObjects,
  filterTexts,
  findNonEmptyText,
  formatCanonicalJson,
  formatJson,
  getKey,
  getPartAt,
  getTextAt,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  setKey,
} from './text/json.ts'
export { DEEPEST, isDeeperThan } from './text/json-depth.ts'
export { parsePointer } from './text/json-pointer.ts'
