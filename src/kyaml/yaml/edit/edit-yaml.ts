/**
 * Touches only the lines that change; all others stay byte for byte. The result must read exactly
 * as the same edits of the values; otherwise the edit is refused.
 */
import { Failure } from '../../failure.ts'
import { createFieldStep, type FieldPath } from '../../krm/field-path.ts'
import { formatRedactedPath } from '../../krm/redaction/shown-path.ts'
import {
  getKey,
  isJsonArray,
  isJsonEqual,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../text/json.ts'
import { type GoYamlDocument, parseGoYaml } from '../read/go-yaml.ts'
import { formatPosition, LineIndex } from '../read/go-yaml-text.ts'
import { DocumentEditor } from './edit-yaml-document.ts'
import { detectLineBreak } from './edit-yaml-style.ts'
import { EditRefusal, removeValueAt, writeValueAt } from './edit-yaml-value.ts'
import { writeDocument } from './edit-yaml-write.ts'

/** Documents count as in kpt; `items` if the document is a list. */
interface YamlAddress {
  readonly document: number
  readonly item?: number | undefined
}

export type YamlEdit =
  /** Creates missing parents and keyed items; changes a map or list piece by piece. */
  | (YamlAddress & {
      readonly kind: 'set'
      readonly path: FieldPath
      readonly value: Json
      /** Without these an anchor with an alias is not changed. */
      readonly aliases?: readonly FieldPath[]
    })
  /** The last key of a map leaves `{}`, the last item of a list `[]`. */
  | (YamlAddress & { readonly kind: 'remove'; readonly path: FieldPath })
  /** The file may then be empty, or contain only comments. */
  | (YamlAddress & { readonly kind: 'remove-object' })
  | { readonly kind: 'append-object'; readonly object: JsonObject }

/**
 * In order; addresses refer to the given text, and objects are removed last.
 * @param where for errors
 * @throws Failure BP1110 or BP1111 if the file cannot be read, BP2007 (with file and line) if an
 * edit cannot be made
 */
export function editYaml(text: string, edits: readonly YamlEdit[], where: string): string {
  const { documents } = parseGoYaml(text, where)
  const file = new FileEditor(text, documents, where)
  for (const edit of edits) file.edit(edit)
  return file.finish()
}

function createItemPath(index: number): FieldPath {
  return [createFieldStep('items'), { kind: 'index', index }]
}

class FileEditor {
  private readonly text: string
  private readonly documents: readonly GoYamlDocument[]
  private readonly where: string
  private readonly editors: readonly DocumentEditor[]
  private readonly wanted: Json[]
  private readonly removedItems = new Map<number, Set<number>>()
  private readonly removed = new Set<number>()
  private readonly appended: JsonObject[] = []

  constructor(text: string, documents: readonly GoYamlDocument[], where: string) {
    this.text = text
    this.documents = documents
    this.where = where
    const lineBreak = detectLineBreak(text)
    this.editors = documents.map(
      ({ chunk }) => new DocumentEditor(text.slice(chunk.start, chunk.end), lineBreak),
    )
    this.wanted = documents.map(({ value }) => value)
  }

  edit(edit: YamlEdit): void {
    if (edit.kind === 'append-object') {
      this.appended.push(edit.object)
      return
    }
    const { document, item } = edit
    const prefix = this.getPrefix(edit)
    if (edit.kind === 'set') {
      const { aliases = [] } = edit
      this.change(document, [...prefix, ...edit.path], edit.path, (editor, value, path) => {
        if (aliases.length === 0) editor.set(path, edit.value)
        else editor.setAnchored(path, edit.value, aliases)
        return [path, ...aliases].reduce(
          (before, each) => writeValueAt(before, each, edit.value),
          value,
        )
      })
    } else if (edit.kind === 'remove') {
      this.change(document, [...prefix, ...edit.path], edit.path, (editor, value, path) => {
        editor.remove(path)
        return removeValueAt(value, path)
      })
    } else if (item === undefined) this.removed.add(document)
    else
      this.removedItems.set(document, new Set([...(this.removedItems.get(document) ?? []), item]))
  }

  private getPrefix({ document, item }: YamlAddress): FieldPath {
    const value = this.wanted[document]
    if (value === undefined)
      throw this.createRefusal(`the file has no document number ${document}`, this.where)
    if (item === undefined) return []
    const items = isJsonObject(value) ? getKey(value, 'items') : undefined
    if (!isJsonArray(items) || items[item] === undefined)
      throw this.createRefusal(`document number ${document} has no item number ${item}`, this.where)
    return createItemPath(item)
  }

  private change(
    document: number,
    path: FieldPath,
    shown: FieldPath,
    action: (editor: DocumentEditor, value: Json, path: FieldPath) => Json,
  ): void {
    const editor = this.editors[document] as DocumentEditor
    const before = editor.text
    try {
      this.wanted[document] = action(editor, this.wanted[document] ?? null, path)
    } catch (thrown) {
      if (!(thrown instanceof EditRefusal)) throw thrown
      const start = this.documents[document]?.chunk.start ?? 0
      // Near it if this document was already edited.
      const whole = this.text.slice(0, start) + before
      const location = new LineIndex(whole).getPosition(
        start + Math.min(thrown.offset ?? 0, before.length),
      )
      const field = shown.length === 0 ? 'the object' : formatRedactedPath(shown, undefined)
      throw this.createRefusal(`${field}: ${thrown.message}`, formatPosition(this.where, location))
    }
  }

  private createRefusal(why: string, where: string): Failure {
    return new Failure({
      code: 'BP2007',
      what: 'the file cannot be edited at that place',
      where,
      why,
      remedy: 'edit the file by hand, or choose restore or release',
      retry: 'on-change',
    })
  }

  finish(): string {
    for (const [document, items] of this.removedItems)
      for (const item of [...items].sort((left, right) => right - left)) {
        const path = createItemPath(item)
        this.change(document, path, [], (editor, value) => {
          editor.remove(path)
          return removeValueAt(value, path)
        })
      }
    const result = this.appendDocuments(this.assemble())
    this.prove(result)
    return result
  }

  private assemble(): string {
    let result = ''
    let from = 0
    for (const { index, chunk } of this.documents) {
      if (this.removed.has(index)) {
        const { start, end } = computeRemovedRange(this.text, chunk, index === 0)
        result += this.text.slice(from, start)
        from = end
      } else {
        result += this.text.slice(from, chunk.start) + (this.editors[index]?.text ?? '')
        from = chunk.end
      }
    }
    return result + this.text.slice(from)
  }

  private appendDocuments(text: string): string {
    const lineBreak = detectLineBreak(this.text)
    return this.appended.reduce((before, object) => {
      const document = writeDocument(object).replaceAll('\n', lineBreak)
      if (before.trim() === '') return before + document
      const gap = before.endsWith('\n') ? '' : lineBreak
      const separator = /(?:^|\n)---[^\n]*\r?\n?$/.test(before) ? '' : `---${lineBreak}`
      return `${before}${gap}${separator}${document}`
    }, text)
  }

  private prove(text: string): void {
    const retained = this.wanted.filter(
      (value, index) => !this.removed.has(index) && value !== null,
    )
    const wanted = [...retained, ...this.appended]
    const { documents } = parseGoYaml(text, this.where)
    const same =
      documents.length === wanted.length &&
      documents.every(({ value }, index) => isJsonEqual(value, wanted[index]))
    if (!same)
      throw this.createRefusal('the edited file does not read as the edits say', this.where)
  }
}

/** A comment block that begins the file and ends with a blank line stays. */
function computeRemovedRange(
  text: string,
  chunk: GoYamlDocument['chunk'],
  isFirst: boolean,
): { readonly start: number; readonly end: number } {
  const body = text.slice(chunk.start, chunk.end)
  const header = isFirst ? (/^(?:#[^\n]*\n)+(?:[ \t\r]*\n)+/.exec(body)?.[0].length ?? 0) : 0
  if (header > 0) return { start: chunk.start + header, end: chunk.end }
  if (chunk.separator < chunk.start && chunk.separator > 0)
    return { start: chunk.separator, end: chunk.end }
  const next = /^---[ \t]*\r?\n/.exec(text.slice(chunk.end))
  return {
    start: chunk.separator,
    end: chunk.end + (chunk.separator < chunk.start ? 0 : (next?.[0].length ?? 0)),
  }
}
