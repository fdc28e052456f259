import { type FieldPath, isAnyStep, type PathStep } from '@backporch/kyaml/field'
import type { ResourceId } from '@backporch/kyaml/resource'
import { type ChartFiles, isTemplate } from '../../build/chart-templates.ts'
import { readSourceText as textOfFile } from '../../kustomize/files/kustomize-build.ts'
import { createRootScope, deduplicatePaths, type Reading } from './template-actions.ts'
import {
  ACTION_MARK,
  type Definition,
  listTemplateLines,
  parseDefinitions,
  type TemplateLine,
} from './template-lines.ts'

export interface FieldWriter {
  readonly path: string
  readonly line: number
  readonly isField: boolean
  /** Of the location and its included named templates. */
  readonly refs: readonly FieldPath[]
  readonly rest: FieldPath
  readonly added: FieldPath
  /** They decide whether the location is written. */
  readonly controls: readonly FieldPath[]
  readonly isOfFiles: boolean
}

interface TraceQuestion {
  readonly template: string
  readonly id: Pick<ResourceId, 'kind' | 'name'>
  readonly field: FieldPath
}

const MOST_INCLUDES = 8

export class TemplateTrace {
  private readonly chart: ChartFiles
  private readonly definitions: ReadonlyMap<string, Definition>

  constructor(chart: ChartFiles) {
    this.chart = chart
    const { folder, files } = chart
    const prefix = folder === '' ? '' : `${folder}/`
    const templates = [...files.keys()].filter(
      (path) => path.startsWith(prefix) && path.includes('templates/') && isTemplate(path),
    )
    this.definitions = new Map(
      templates.flatMap((path) => [...parseDefinitions(path, textOfFile(path, files))]),
    )
  }

  /** Never empty for an existing template. */
  listWriters({ template, id, field }: TraceQuestion): readonly FieldWriter[] {
    const lines = this.findDocument(template, id)
    const found = this.search(lines, field, 0, [])
    return found.length > 0
      ? found
      : lines
          .slice(0, 1)
          .map((line) =>
            this.createWriter(line, lines, { field, at: 0, names: [], isField: false }),
          )
  }

  /** Innermost first; with the lists that contain the object. */
  listSwitches(
    template: string,
    id: TraceQuestion['id'],
  ): { readonly controls: readonly FieldPath[]; readonly lists: readonly FieldPath[] } {
    const lines = this.findDocument(template, id)
    const first =
      lines.find(({ key }) => key === 'kind' || key === 'apiVersion') ??
      lines.find(({ isBare }) => isBare)
    const bare = lines
      .filter(({ isBare }) => isBare)
      .flatMap(({ readings }) => readings.flatMap(({ refs }) => refs))
    return {
      controls: (first?.controls ?? []).toReversed(),
      lists: first?.key === undefined ? deduplicatePaths(bare) : [],
    }
  }

  private findDocument(
    template: string,
    { kind, name }: TraceQuestion['id'],
  ): readonly TemplateLine[] {
    const { files } = this.chart
    if (!files.has(template) || !isTemplate(template)) return []
    const text = textOfFile(template, files)
    const lines = listTemplateLines(
      { path: template, text, before: 0 },
      createRootScope(listTemplateDependencies(this.chart, template)),
    )
    const raw = text.split('\n')
    const documents: TemplateLine[][] = [[]]
    for (const line of lines) {
      if (raw[line.number - 1]?.startsWith('---') === true) documents.push([])
      else documents.at(-1)?.push(line)
    }
    const named = documents.filter((document) =>
      document.some(
        (line) => line.key === 'kind' && line.indent === 0 && unquoteValue(line.value) === kind,
      ),
    )
    const open = documents.filter(
      (document) =>
        !document.some((line) => line.key === 'kind' && line.indent === 0 && isLiteral(line.value)),
    )
    const chosen = named.length > 0 ? named : open.length > 0 ? open : documents
    const scores = chosen.map((document) => nameScore(document, name))
    return chosen.filter((_, at) => scores[at] === Math.max(...scores)).flat()
  }

  private search(
    lines: readonly TemplateLine[],
    path: FieldPath,
    at: number,
    names: readonly string[],
  ): readonly FieldWriter[] {
    const step = path[at]
    if (step === undefined || names.length > MOST_INCLUDES) return []
    if (step.kind !== 'field') return this.searchItems(lines, path, at, names)
    const direct = selectDirectLines(lines)
    const own = direct.filter(({ key }) => key === step.name)
    const chosen =
      own.length > 0 ? own : direct.filter(({ key, hasKey }) => hasKey && key === undefined)
    const written = chosen.flatMap((line) =>
      this.listWritersBelow(line, lines, {
        field: path,
        at: at + 1,
        names,
        isField: line.key !== undefined,
      }),
    )
    const bare =
      own.length > 0 ? [] : this.listBareWriters(selectLinesBetween(lines, direct), path, at, names)
    return [...written, ...bare]
  }

  private listWritersBelow(
    line: TemplateLine,
    lines: readonly TemplateLine[],
    step: Step,
  ): readonly FieldWriter[] {
    const { field, at, names, isField } = step
    const isWhole = at === field.length
    // A key without a value has a list there, or nothing.
    const extent = selectExtent(line, lines, isItem(field[at]) || (isWhole && isOpen(line)))
    // `labels: {{- include … }}`: the output of the line's actions is below it.
    const own = {
      ...line,
      key: undefined,
      hasKey: false,
      item: undefined,
      isBare: true,
      indent: line.indent + 1,
    }
    const inner = isInline(line) || isWhole ? [] : this.search([own, ...extent], field, at, names)
    if (inner.length > 0) return inner
    return [
      this.createWriter(line, isWhole ? [line, ...extent] : [line], {
        ...step,
        isField: isField && isWhole,
      }),
    ]
  }

  private searchItems(
    lines: readonly TemplateLine[],
    path: FieldPath,
    at: number,
    names: readonly string[],
  ): readonly FieldWriter[] {
    const step = path[at]
    const { items, others } = splitItems(lines)
    const fits = items.map((item) => (step === undefined ? 'maybe' : compareStep(item, step)))
    const exact = items.filter((_, index) => fits[index] === 'exact')
    const chosen = exact.length > 0 ? exact : items.filter((_, index) => fits[index] === 'maybe')
    const found = chosen.flatMap((item) => {
      const inner = at + 1 < path.length ? this.search(item, path, at + 1, names) : []
      const [first] = item
      if (inner.length > 0 || first === undefined) return inner
      return [
        this.createWriter(first, item, {
          field: path,
          at: at + 1,
          names,
          isField: at + 1 === path.length,
        }),
      ]
    })
    return exact.length > 0 ? found : [...found, ...this.listBareWriters(others, path, at, names)]
  }

  private listBareWriters(
    lines: readonly TemplateLine[],
    path: FieldPath,
    at: number,
    names: readonly string[],
  ): readonly FieldWriter[] {
    return lines.flatMap((line) => {
      const found = line.readings.flatMap(({ includes }) =>
        includes.flatMap((each) => {
          const body = names.includes(each.name) ? undefined : this.findBody(each, line)
          return body === undefined ? [] : this.search(body, path, at, [...names, each.name])
        }),
      )
      if (found.length > 0) return found
      const isOpen = line.readings.some(({ refs, isOfFiles }) => refs.length > 0 || isOfFiles)
      return isOpen
        ? [this.createWriter(line, [line], { field: path, at, names, isField: false })]
        : []
    })
  }

  private createWriter(
    line: TemplateLine,
    extent: readonly TemplateLine[],
    { field, at, names, isField }: Step,
  ): FieldWriter {
    const own = extent.flatMap((each) => each.readings)
    const included = own.flatMap((reading) => this.listIncludedPaths(reading, line, names))
    const inside = extent.flatMap(({ controls }) => controls.slice(line.controls.length))
    const refs = deduplicatePaths([
      ...own.flatMap((reading) => reading.refs),
      ...inside,
      ...included,
    ])
    return {
      path: line.path,
      line: line.number,
      isField,
      refs,
      rest: field.slice(at),
      added: field.slice(Math.max(0, at - 1)),
      controls: line.controls,
      isOfFiles: own.some(({ isOfFiles }) => isOfFiles),
    }
  }

  private listIncludedPaths(
    { includes }: Reading,
    line: TemplateLine,
    names: readonly string[],
  ): readonly FieldPath[] {
    return includes.flatMap((each) => {
      if (names.includes(each.name) || names.length > MOST_INCLUDES) return []
      const body = this.findBody(each, line) ?? []
      const readings = body.flatMap((inner) => inner.readings)
      const deeper = readings.flatMap((reading) =>
        this.listIncludedPaths(reading, line, [...names, each.name]),
      )
      return [
        ...readings.flatMap(({ refs }) => refs),
        ...body.flatMap(({ controls }) => controls),
        ...deeper,
      ]
    })
  }

  private findBody(
    { name, argument }: Reading['includes'][number],
    { path }: TemplateLine,
  ): readonly TemplateLine[] | undefined {
    const definition = this.definitions.get(name)
    return definition === undefined
      ? undefined
      : listTemplateLines(
          definition,
          createRootScope(listTemplateDependencies(this.chart, path), argument),
        )
  }
}

interface Step {
  readonly field: FieldPath
  readonly at: number
  readonly names: readonly string[]
  readonly isField: boolean
}

export function listTemplateDependencies(
  { folder }: ChartFiles,
  template: string,
): readonly string[] {
  const own = template.slice(folder === '' ? 0 : folder.length + 1)
  const above = own.split('/templates/')[0] ?? ''
  return [...`${above}/`.matchAll(/(?:^|\/)charts\/([^/]+)(?=\/)/g)].map(([, name = '']) => name)
}

function isOpen({ value }: TemplateLine): boolean {
  return value === '' || value.startsWith('#')
}

function isInline({ value }: TemplateLine): boolean {
  return (
    value !== '' &&
    !/^[|>&!]/.test(value) &&
    !/^#/.test(value) &&
    value.replaceAll(ACTION_MARK, '').trim() !== ''
  )
}

function isLiteral(value: string): boolean {
  return !value.includes(ACTION_MARK)
}

function unquoteValue(value: string): string {
  return value.replace(/\s+#.*$/, '').replace(/^(["'])(.*)\1$/, '$2')
}

function selectDirectLines(lines: readonly TemplateLine[]): readonly TemplateLine[] {
  const keyed = lines.filter(({ hasKey }) => hasKey)
  const least = Math.min(...keyed.map(({ indent }) => indent))
  return keyed.filter(({ indent }) => indent === least)
}

function isItem(step: PathStep | undefined): boolean {
  return step !== undefined && step.kind !== 'field'
}

/**
 * A list may be as deep as its key. Action output at the line's own depth is its items, or sibling
 * keys. @param withItems if it counts as items
 */
function selectExtent(
  line: TemplateLine,
  lines: readonly TemplateLine[],
  withItems = false,
): readonly TemplateLine[] {
  const after = lines.slice(lines.indexOf(line) + 1)
  const end = after.findIndex((each) => {
    if (each.isBare || each.isEmpty) return false
    const column = each.item ?? each.indent
    return (
      column < line.indent ||
      (column === line.indent && (each.item === undefined || line.item !== undefined))
    )
  })
  const all = end === -1 ? after : after.slice(0, end)
  return all.filter(
    (each) =>
      !each.isBare ||
      each.indent > line.indent ||
      (each.indent === line.indent && (withItems || each.readings.length === 0)),
  )
}

function selectLinesBetween(
  lines: readonly TemplateLine[],
  direct: readonly TemplateLine[],
): readonly TemplateLine[] {
  const taken = new Set(direct.flatMap((line) => selectExtent(line, lines)))
  const bare = lines.filter(({ isBare, readings }) => isBare && readings.length > 0)
  return bare.filter((line) => !taken.has(line))
}

function splitItems(lines: readonly TemplateLine[]): {
  readonly items: readonly (readonly TemplateLine[])[]
  readonly others: readonly TemplateLine[]
} {
  const least = Math.min(...lines.flatMap(({ item }) => item ?? []))
  const items: TemplateLine[][] = []
  const others: TemplateLine[] = []
  for (const line of lines) {
    if (line.item === least) items.push([line])
    else if (items.length === 0 || (line.isBare && line.indent <= least)) others.push(line)
    else items.at(-1)?.push(line)
  }
  return { items, others: others.filter(({ readings }) => readings.length > 0) }
}

function compareStep(item: readonly TemplateLine[], step: PathStep): 'exact' | 'maybe' | 'no' {
  if (step.kind !== 'item' || isAnyStep(step)) return 'maybe'
  const direct = selectDirectLines(item)
  const answers = Object.entries(step.keys).map(([key, value]) => {
    const line = direct.find((each) => each.key === key)
    if (line === undefined || !isLiteral(line.value)) return 'maybe'
    return unquoteValue(line.value) === String(value) ? 'exact' : 'no'
  })
  if (answers.includes('no')) return 'no'
  return answers.includes('exact') ? 'exact' : 'maybe'
}

/** -1 if the document writes another name. */
function nameScore(document: readonly TemplateLine[], name: string): number {
  const at = document.findIndex(({ key, indent }) => key === 'metadata' && indent === 0)
  const line = at === -1 ? undefined : document.slice(at + 1).find(({ key }) => key === 'name')
  if (line === undefined) return 0
  const parts = unquoteValue(line.value).split(ACTION_MARK)
  const fits = name.startsWith(parts[0] ?? '') && name.endsWith(parts.at(-1) ?? '')
  return fits ? parts.join('').length : -1
}
