/** Object ids of git: SHA-1, 40 lower-case hex digits. */

declare const oid: unique symbol
/** The object id of a commit, tree or blob. */
export type ObjectId = string & { readonly [oid]: true }

const OBJECT_ID = /^[0-9a-f]{40}$/

/** @throws TypeError when the text is not an object id; every caller has it from git */
export function objectId(text: string): ObjectId {
  if (!OBJECT_ID.test(text)) throw new TypeError(`not an object id: ${JSON.stringify(text)}`)
  return text as ObjectId
}

/** Of text that people may have edited, such as the ledger; undefined where it is not an object id. */
export function readObjectId(text: string | undefined): ObjectId | undefined {
  return text !== undefined && OBJECT_ID.test(text) ? (text as ObjectId) : undefined
}
