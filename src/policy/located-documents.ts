/** With line numbers, so that every problem is reported at once. */
import { Failure } from '@backporch/kyaml/failure'
import type { Json } from '@backporch/kyaml/json'
import {
  checkYamlText,
  describeOthers,
  LineIndex,
  NodeMeter,
  readDocuments,
  splitChunks,
  type YamlDocument,
  YamlRefusal,
} from '@backporch/kyaml/read-yaml'
import { convertToCoreJson, findEntry, resolveAlias, type YamlNode } from '@backporch/kyaml/yaml'
import type { z } from 'zod'

export interface TextFile {
  readonly path: string
  readonly text: string
}

export interface Problem {
  /** As `.drift/policy.yaml:12`. */
  readonly where: string
  readonly why: string
}

interface LocatedDocument {
  readonly value: Json
  readonly location: Locations
}

export function* readLocated(file: TextFile, problems: Problem[]): Generator<LocatedDocument> {
  const lines = new LineIndex(file.text)
  const at = (offset: number): string => `${file.path}:${lines.getPosition(offset).line}`
  for (const { node, start, notes } of readEach(file, at, problems)) {
    const duplicates = notes.filter(({ kind }) => kind === 'duplicate-key')
    for (const note of duplicates)
      problems.push({
        where: at(start + note.offset),
        why: `keys are unique, and this one appears twice, first at line ${lines.getPosition(start + (note.earlier ?? 0)).line}${describeOthers(note)}`,
      })
    if (duplicates.length > 0) continue
    yield {
      value: convertToCoreJson(node),
      location: new Locations(node, (offset) => at(start + offset)),
    }
  }
}

/** Separately: an unreadable one hides no problem of the others. */
function* readEach(
  { text, path }: TextFile,
  at: (offset: number) => string,
  problems: Problem[],
): Generator<YamlDocument & { readonly start: number }> {
  try {
    checkYamlText(text, path)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    problems.push({ where: thrown.where ?? path, why: thrown.why })
    return
  }
  const meter = new NodeMeter()
  for (const { start, end } of splitChunks(text))
    try {
      for (const document of readDocuments(text.slice(start, end), path, meter))
        yield { ...document, start }
    } catch (thrown) {
      if (!(thrown instanceof YamlRefusal)) throw thrown
      problems.push({ where: at(start + thrown.offset), why: thrown.message })
    }
}

export class Locations {
  private readonly root: YamlNode
  private readonly at: (offset: number) => string

  constructor(root: YamlNode, at: (offset: number) => string) {
    this.root = root
    this.at = at
  }

  formatLocation(path: readonly PropertyKey[]): string {
    let node: YamlNode | undefined = this.root
    let offset = node.source?.start ?? 0
    for (const part of path) {
      const target: YamlNode | undefined = node === undefined ? undefined : resolveAlias(node)
      const entry = findEntry(target, String(part))
      if (target?.kind === 'map' && entry === undefined) break
      node = target?.kind === 'list' ? target.items[Number(part)] : entry?.value
      offset = (entry?.key ?? node)?.source?.start ?? offset
    }
    return this.at(offset)
  }
}

export function listSchemaProblems(error: z.ZodError, location: Locations): Problem[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.') || undefined
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        where: location.formatLocation([...issue.path, key]),
        why: `unknown field ${path === undefined ? key : `${path}.${key}`}`,
      }))
    }
    return [
      {
        where: location.formatLocation(issue.path),
        why: `${path ?? 'the document'}: ${issue.message}`,
      },
    ]
  })
}
