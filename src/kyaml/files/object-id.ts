declare const oid: unique symbol
export type ObjectId = string & { readonly [oid]: true }

const OBJECT_ID = /^[0-9a-f]{40}$/

/** @throws TypeError; every caller has the text from git */
export function parseObjectId(text: string): ObjectId {
  if (!OBJECT_ID.test(text)) throw new TypeError(`not an object id: ${JSON.stringify(text)}`)
  return text as ObjectId
}

/** People may have edited the text, such as the ledger. */
export function readObjectId(text: string | undefined): ObjectId | undefined {
  return text !== undefined && OBJECT_ID.test(text) ? (text as ObjectId) : undefined
}
