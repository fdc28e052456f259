/** Each change is parsed again and must read as the same change of the value. */
import { createFieldStep, type FieldPath, type PathStep } from '../../krm/field-path.ts'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../text/json.ts'
import { readGoValue } from '../read/go-yaml-values.ts'
import { readDocuments, type YamlDocument } from '../read/read-yaml-node.ts'
import { YamlRefusal } from '../read/read-yaml-refusal.ts'
import type { YamlNode } from '../yaml-node.ts'
import { deleteEntry, findSlotEntry, insertLines, replaceInBlock } from './edit-yaml-block.ts'
import { deleteInFlow, insertInFlow, replaceInFlow } from './edit-yaml-flow.ts'
import {
  type Collection,
  checkAnchors,
  getRange,
  isAliasSlot,
  isCollection,
  isFlow,
  listCollectionEntries,
  type Slot,
  type Splice,
  walk,
} from './edit-yaml-location.ts'
import { chooseStyle, getColumn, type YamlStyle } from './edit-yaml-style.ts'
import { EditRefusal, removeValueAt, writeValueAt } from './edit-yaml-value.ts'
import { listWaysToWrite } from './edit-yaml-ways.ts'
import { type WriteLocation, writeFlow, writeItem, writeKey, writePair } from './edit-yaml-write.ts'

type Slots = readonly Slot[]

interface Change {
  readonly attempts: readonly (readonly Splice[])[]
  readonly wanted: Json
}

export class DocumentEditor {
  text: string
  private document: YamlDocument
  private readonly lineBreak: '\n' | '\r\n'
  private followed = false

  constructor(text: string, lineBreak: '\n' | '\r\n') {
    const document = tryReadDocument(text)
    if (document === undefined) throw new TypeError('the text has no document')
    this.text = text
    this.document = document
    this.lineBreak = lineBreak
  }

  /** @throws EditRefusal */
  set(path: FieldPath, value: Json): void {
    const wanted = writeValueAt(this.document.value, path, value)
    if (isJsonEqual(wanted, this.document.value)) return
    const { slots, rest } = walk(this.document, path)
    const slot = getLast(slots)
    if (rest.length === 0 && !isAliasSlot(slot)) this.setExisting(slots, path, value, wanted)
    else this.commit({ attempts: this.add(slots, rest, value), wanted })
  }

  /**
   * Every alias must show the value.
   * @throws EditRefusal
   */
  setAnchored(path: FieldPath, value: Json, aliases: readonly FieldPath[]): void {
    const wanted = [path, ...aliases].reduce(
      (before, each) => writeValueAt(before, each, value),
      this.document.value,
    )
    if (isJsonEqual(wanted, this.document.value)) return
    const { slots, rest } = walk(this.document, path)
    if (isAliasSlot(getLast(slots)))
      throw new EditRefusal('the value is that of an alias', getRange(getLast(slots).node).start)
    this.followed = true
    try {
      this.commit({
        attempts:
          rest.length === 0
            ? this.planReplacements(slots, value, true)
            : this.add(slots, rest, value),
        wanted,
      })
    } finally {
      this.followed = false
    }
  }

  /**
   * An absent value is no change.
   * @throws EditRefusal
   */
  remove(path: FieldPath): void {
    const wanted = removeValueAt(this.document.value, path)
    if (wanted !== this.document.value) this.commit({ attempts: this.planRemoval(path), wanted })
  }

  private planRemoval(path: FieldPath): readonly (readonly Splice[])[] {
    const { slots, rest } = walk(this.document, path)
    const slot = getLast(slots)
    if (isAliasSlot(slot) && rest.length > 0)
      return this.planReplacements(slots, removeValueAt(readGoValue(slot.node), rest))
    if (rest.length > 0)
      throw new EditRefusal(
        'the field comes from a merge key "<<", which cannot leave it out',
        getRange(slot.node).start,
      )
    if (slot.parent === undefined)
      throw new EditRefusal('a whole document is removed with remove-object')
    const { collection, index } = slot.parent
    const above = slots.slice(0, -1)
    const entries = listCollectionEntries(this.text, collection)
    if (entries.length === 1)
      return this.planReplacements(above, collection.kind === 'map' ? {} : [])
    this.assertNotShared(listNodes(above), slot.node, entries[index]?.key)
    const isRoot = above.length === 1
    return [
      isFlow(collection)
        ? deleteInFlow(this.text, slot.parent)
        : deleteEntry(this.text, slot.parent, isRoot),
    ]
  }

  private setExisting(slots: Slots, path: FieldPath, value: Json, wanted: Json): void {
    const before = { text: this.text, document: this.document }
    try {
      if (this.setInside(getLast(slots).node, path, value)) return
    } catch (thrown) {
      if (!(thrown instanceof EditRefusal) || path.length === 0) throw thrown
      // Such as a value with a merge key inside.
      this.text = before.text
      this.document = before.document
    }
    this.commit({
      attempts: this.planReplacements(walk(this.document, path).slots, value, true),
      wanted,
    })
  }

  /** Equal parts keep their text. @returns false if this is not possible */
  private setInside(node: YamlNode, path: FieldPath, value: Json): boolean {
    const old = readGoValue(node)
    if (node.kind === 'map' && isJsonObject(old) && isJsonObject(value))
      return this.setMap(path, old, value)
    return (
      node.kind === 'list' &&
      isJsonArray(old) &&
      isJsonArray(value) &&
      this.setList(path, old, value)
    )
  }

  private setMap(path: FieldPath, old: JsonObject, value: JsonObject): boolean {
    if (path.length > 0 && !Object.keys(old).some((key) => Object.hasOwn(value, key))) return false
    for (const [key, below] of Object.entries(value))
      this.set([...path, createFieldStep(key)], below)
    for (const key of Object.keys(old))
      if (!Object.hasOwn(value, key)) this.remove([...path, createFieldStep(key)])
    return true
  }

  /** Equal items at both ends stay. */
  private setList(path: FieldPath, old: readonly Json[], value: readonly Json[]): boolean {
    const shorter = Math.min(old.length, value.length)
    if (shorter === 0) return false
    let head = 0
    while (head < shorter && isJsonEqual(old[head], value[head])) head += 1
    let tail = 0
    while (tail < shorter - head && isJsonEqual(old.at(-1 - tail), value.at(-1 - tail))) tail += 1
    const inPlace = shorter - tail
    for (let index = head; index < inPlace; index += 1)
      this.set([...path, createItemStep(index)], value[index] as Json)
    for (let index = old.length - tail - 1; index >= inPlace; index -= 1)
      this.remove([...path, createItemStep(index)])
    for (let index = inPlace; index < value.length - tail; index += 1)
      this.insert(path, index, value[index] as Json)
    return true
  }

  private insert(path: FieldPath, index: number, item: Json): void {
    const { slots } = walk(this.document, path)
    const list = readGoValue(getLast(slots).node)
    if (!isJsonArray(list)) throw new EditRefusal('the list is not there')
    this.commit({
      attempts: this.planInsertion(slots, index, item),
      wanted: writeValueAt(this.document.value, path, list.toSpliced(index, 0, item)),
    })
  }

  private add(slots: Slots, rest: FieldPath, value: Json): readonly (readonly Splice[])[] {
    const slot = getLast(slots)
    const { node } = slot
    const old = readGoValue(node)
    const after = writeValueAt(old, rest, value)
    const [step] = rest
    const canGrow = isCollection(node) && (!isEmpty(node) || isInFlow(slots))
    if (!canGrow || step === undefined) return this.planReplacements(slots, after)
    if (step.kind === 'field' && isJsonObject(after))
      return this.pairInsertion(slots, step.name, getKey(after, step.name) ?? null)
    if (!isJsonArray(after) || !isJsonArray(old) || after.length !== old.length + 1)
      throw new EditRefusal('the list takes no such item')
    return this.planInsertion(slots, old.length, after.at(-1) ?? null)
  }

  private pairInsertion(slots: Slots, name: string, value: Json): readonly (readonly Splice[])[] {
    this.assertNotShared(listNodes(slots))
    const collection = getLast(slots).node as Collection
    const style = this.getStyle(slots)
    const end = { collection, index: listCollectionEntries(this.text, collection).length }
    if (isFlow(collection)) {
      const own = deriveKeyStyle(style, collection)
      return [
        insertInFlow(
          this.text,
          end,
          `${writeKey(name, own, true)}: ${writeFlow(value, own)}`,
          style,
        ),
      ]
    }
    return [
      insertLines(
        this.text,
        end,
        writePair(name, value, this.getColumnIn(collection), style),
        style,
      ),
    ]
  }

  private planInsertion(slots: Slots, index: number, item: Json): readonly (readonly Splice[])[] {
    this.assertNotShared(listNodes(slots))
    const collection = getLast(slots).node as Collection
    const style = this.getStyle(slots)
    if (isFlow(collection))
      return [insertInFlow(this.text, { collection, index }, writeFlow(item, style), style)]
    return [
      insertLines(
        this.text,
        { collection, index },
        writeItem(item, this.getColumnIn(collection), style),
        style,
      ),
    ]
  }

  private getColumnIn(collection: Collection): number {
    const [first] = listCollectionEntries(this.text, collection)
    return first === undefined ? 0 : getColumn(this.text, first.start)
  }

  private planReplacements(
    slots: Slots,
    value: Json,
    keepsStyle = false,
  ): readonly (readonly Splice[])[] {
    const slot = getLast(slots)
    this.assertNotShared(listNodes(slots), slot.node)
    const style = this.getStyle(slots)
    const entry = findSlotEntry(this.text, slot)
    const old =
      keepsStyle && slot.node.kind === 'scalar' ? { scalar: slot.node, text: this.text } : undefined
    if (entry !== undefined && isBelowFlow(slots))
      return listWaysToWrite(value, undefined, old, style).map(({ head }) =>
        replaceInFlow(this.text, slot, entry, head),
      )
    const behindDash = slot.parent?.collection.kind === 'list'
    const own = behindDash ? { ...style, dashWidth: this.getDashWidth(slot) } : style
    const location: WriteLocation =
      entry === undefined
        ? { column: -style.step, behind: 'key' }
        : { column: getColumn(this.text, entry.start), behind: behindDash ? 'dash' : 'key' }
    return listWaysToWrite(value, location, old, own).map((written) =>
      replaceInBlock(this.text, slot, written, own),
    )
  }

  /** The lines align with the old value's start. */
  private getDashWidth(slot: Slot): number {
    const entry = findSlotEntry(this.text, slot)
    const start = entry?.written?.start
    if (
      entry === undefined ||
      start === undefined ||
      entry.anchor !== undefined ||
      entry.tag !== undefined
    )
      return 2
    return this.text.slice(entry.start, start).includes('\n') ? 2 : start - entry.start
  }

  private getStyle(slots: Slots): YamlStyle {
    return chooseStyle(this.text, this.lineBreak, this.document.node, listNodes(slots).toReversed())
  }

  private assertNotShared(
    changed: readonly YamlNode[],
    removed?: YamlNode,
    removedKey?: YamlNode,
  ): void {
    if (!this.followed) checkAnchors(this.document, changed, removed, removedKey)
  }

  private commit({ attempts, wanted }: Change): void {
    for (const splices of attempts) {
      const text = applySplices(this.text, splices)
      const document = tryReadDocument(text)
      if (document === undefined || !isJsonEqual(document.value, wanted)) continue
      this.text = text
      this.document = document
      return
    }
    throw new EditRefusal(
      'no way to write the change reads back as the change',
      attempts[0]?.[0]?.start,
    )
  }
}

function getLast(slots: Slots): Slot {
  const slot = slots.at(-1)
  if (slot === undefined) throw new TypeError('a walk has at least the root')
  return slot
}

function createItemStep(index: number): PathStep {
  return { kind: 'index', index }
}

function listNodes(slots: Slots): readonly YamlNode[] {
  return slots.map(({ node }) => node)
}

/** Empty brackets outside others become a block. */
function isInFlow(slots: Slots): boolean {
  const { node } = getLast(slots)
  return isBelowFlow(slots) || (isCollection(node) && isFlow(node) && !isEmpty(node))
}

function isBelowFlow(slots: Slots): boolean {
  return slots.slice(0, -1).some(({ node }) => isCollection(node) && isFlow(node))
}

function deriveKeyStyle(style: YamlStyle, collection: Collection): YamlStyle {
  const keys = collection.kind === 'map' ? collection.entries.map(({ key }) => key) : []
  const quoted =
    keys.length > 0 && keys.every((key) => key.kind === 'scalar' && key.style === 'double')
  return quoted ? { ...style, json: true } : style
}

function applySplices(text: string, splices: readonly Splice[]): string {
  let result = ''
  let from = 0
  for (const { start, end, text: piece } of splices.toSorted(
    (left, right) => left.start - right.start,
  )) {
    if (start < from) throw new EditRefusal('two changes overlap', start)
    result += text.slice(from, start) + piece
    from = end
  }
  return result + text.slice(from)
}

function isEmpty(collection: Collection): boolean {
  return (collection.kind === 'map' ? collection.entries : collection.items).length === 0
}

function tryReadDocument(text: string): YamlDocument | undefined {
  try {
    return readDocuments(text, '')[0]
  } catch (thrown) {
    if (thrown instanceof YamlRefusal) return undefined
    throw thrown
  }
}
