/**
 * For CI. Does not check what needs the installation key (the fingerprints), git (who merged) or
 * the cluster.
 */
import {
  type FunctionResult,
  findAnnotation,
  getItemFile,
  type KrmFunction,
  PACKAGE_PATH,
} from '@backporch/kpt/function'
import { convertToOneLine } from '@backporch/kyaml/text'
import { findEntry, findNodeAt, findTextAt, getYamlKey, type YamlMap } from '@backporch/kyaml/yaml'
import type { z } from 'zod'
import { driftPolicySchema, placementSchema } from '../../policy/schema.ts'
import { closedEpisodeSchema } from '../../record/documents/closed-episode.ts'
import { clusterObservationSchema } from '../../record/documents/cluster-observation.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import { driftRecordSchema } from '../../record/documents/drift-record.ts'
import { driftReportSchema } from '../../record/documents/drift-report.ts'
import { driftReportListSchema } from '../../record/documents/drift-report-list.ts'
import { readTree, type TreeProblem } from '../../record/read-tree.ts'
import { INERT_LINE } from '../../record/write-document.ts'
import { checkClosed, checkRecord, checkReport, type SignOff } from './check-documents.ts'

const LOCAL_CONFIG = 'config.kubernetes.io/local-config'
/** Per document. */
const MOST_TOLD = 20

interface Finding extends TreeProblem {
  readonly severity?: 'warning'
}

export const verifyDriftRecords: KrmFunction = ({ items, config }) => {
  const read = readConfig(config)
  const findings =
    typeof read === 'string'
      ? [{ message: read, severity: 'error' } as const]
      : [...checkItems(items, read), ...checkSet(items)]
  return {
    items,
    results: findings,
    exitCode: findings.some(({ severity }) => severity === 'error') ? 1 : 0,
    stderr: '',
  }
}

function readConfig(config: YamlMap | undefined): SignOff | string {
  const data = findNodeAt(config, 'data')
  const unknown = (data?.kind === 'map' ? data.entries : [])
    .map(({ key }) => getYamlKey(key))
    .find((key) => key !== 'drafts' && key !== 'message')
  if (unknown !== undefined)
    return `unknown key ${JSON.stringify(convertToOneLine(unknown, 80))}: wanted drafts or message`
  const text = (key: string): string => findTextAt(data, key) ?? ''
  const drafts = (['pass', 'fail'] as const).find((choice) => choice === (text('drafts') || 'pass'))
  const message = (['optional', 'required'] as const).find(
    (choice) => choice === (text('message') || 'optional'),
  )
  if (drafts === undefined)
    return `drafts is ${JSON.stringify(convertToOneLine(text('drafts'), 80))}: wanted pass or fail`
  if (message === undefined)
    return `message is ${JSON.stringify(convertToOneLine(text('message'), 80))}: wanted optional or required`
  return { drafts, message }
}

function checkItems(items: readonly YamlMap[], signOff: SignOff): readonly FunctionResult[] {
  return items.flatMap((item) => {
    const found = checkItem(item, signOff)
    const more =
      found.length > MOST_TOLD
        ? [{ path: undefined, message: `and ${found.length - MOST_TOLD} more` }]
        : []
    return [...found.slice(0, MOST_TOLD), ...more].map((finding) =>
      createFindingResult(item, finding),
    )
  })
}

function checkItem(item: YamlMap, signOff: SignOff): readonly Finding[] {
  const [apiVersion, kind] = [findTextAt(item, 'apiVersion') ?? '', findTextAt(item, 'kind') ?? '']
  const { path } = getItemFile(item)
  if (!apiVersion.startsWith('backporch.dev/'))
    return isBesidePackages(path) ? checkForeign(item, apiVersion, kind) : []
  if (apiVersion !== API_VERSION) return [{ path: 'apiVersion', message: `wanted ${API_VERSION}` }]
  if (kind === 'DriftRecord')
    return [
      ...read(item, driftRecordSchema, (value) => checkRecord(value, path, signOff)),
      ...checkInert(item, 'error'),
    ]
  if (kind === 'DriftReport')
    return [
      ...read(item, driftReportSchema, (value) => checkReport(value, path)),
      ...checkInert(item, 'warning'),
    ]
  if (kind === 'ClosedEpisode')
    return read(item, closedEpisodeSchema, (value) => checkClosed(value, path))
  if (kind === 'ClusterObservation') return read(item, clusterObservationSchema)
  if (kind === 'DriftReportList') return read(item, driftReportListSchema)
  if (kind === 'DriftPolicy') return [...read(item, driftPolicySchema), ...checkLocal(item)]
  if (kind === 'Placement') return [...read(item, placementSchema), ...checkLocal(item)]
  return [
    {
      path: 'kind',
      message: `there is no kind ${JSON.stringify(convertToOneLine(kind, 80))} of ${API_VERSION}`,
    },
  ]
}

function read<Schema extends z.ZodType>(
  item: YamlMap,
  schema: Schema,
  check: (value: z.infer<Schema>) => readonly TreeProblem[] = () => [],
): readonly Finding[] {
  const reading = readTree(item, schema)
  return 'problems' in reading ? reading.problems : check(reading.value)
}

/** The schema leaves it to the writer. */
function checkLocal(item: YamlMap): readonly Finding[] {
  if (findAnnotation(item, LOCAL_CONFIG) === 'true') return []
  return [
    {
      path: 'metadata.annotations',
      message: `without ${LOCAL_CONFIG}: "true" a syncer would apply it`,
      severity: 'warning',
    },
  ]
}

/** The ledger is on a branch that no syncer reads. */
function checkInert(item: YamlMap, severity: 'error' | 'warning'): readonly Finding[] {
  const { path, index } = getItemFile(item)
  if (isInLedger(path) || (index !== '' && index !== '0')) return []
  const comments = [
    item.headComment,
    item.entries[0]?.key.headComment ?? '',
    item.entries[0]?.value.headComment ?? '',
  ]
  if (comments.some((comment) => comment.split('\n')[0] === INERT_LINE)) return []
  const finding = {
    path: undefined,
    message: `the line ${INERT_LINE} is not directly above it: Argo CD would apply the file`,
  }
  return [severity === 'warning' ? { ...finding, severity } : finding]
}

function isInLedger(path: string): boolean {
  return path.startsWith('clusters/') || path.startsWith('closed/')
}

function isBesidePackages(path: string): boolean {
  return path.startsWith('.drift/') || path.includes('/.drift/')
}

function checkForeign(item: YamlMap, apiVersion: string, kind: string): readonly Finding[] {
  if (apiVersion.startsWith('kpt.dev/') && kind === 'ResourceGroup')
    return [
      {
        path: 'kind',
        message:
          'a ResourceGroup belongs in a package or on the ledger: a second one stops kpt live',
      },
    ]
  if (findAnnotation(item, LOCAL_CONFIG) === 'true') return []
  return [
    {
      path: undefined,
      message:
        'only documents of Backporch belong here: a syncer that reads the whole repository would apply it',
    },
  ]
}

function checkSet(items: readonly YamlMap[]): readonly FunctionResult[] {
  const results: FunctionResult[] = []
  const observed = new Map<string, string>()
  const packageOf = createPackageLookup(items)
  for (const item of items) {
    const [apiVersion, kind] = [
      findTextAt(item, 'apiVersion') ?? '',
      findTextAt(item, 'kind') ?? '',
    ]
    const { path } = getItemFile(item)
    const once = ((): readonly [key: string, what: string] | undefined => {
      if (
        kind === 'ResourceGroup' &&
        apiVersion.startsWith('kpt.dev/') &&
        !isInLedger(path) &&
        !isBesidePackages(path)
      )
        return [
          `group ${packageOf(item)}`,
          'the package has another ResourceGroup, so kpt live refuses it',
        ]
      if (apiVersion !== API_VERSION) return undefined
      if (kind === 'DriftPolicy')
        return [
          `policy ${findTextAt(item, 'metadata', 'name')}`,
          'another DriftPolicy has this name',
        ]
      if (kind !== 'DriftRecord') return undefined
      const unit = ['cluster', 'package'].map(
        (name) => findTextAt(item, 'spec', 'unit', name) ?? '',
      )
      return [
        JSON.stringify([...unit, findTextAt(item, 'spec', 'episode')]),
        'another record has the same episode',
      ]
    })()
    if (once === undefined) continue
    const [key, what] = once
    const first = observed.get(key)
    if (first === undefined) observed.set(key, path)
    else
      results.push(
        createFindingResult(item, {
          path: undefined,
          message: first === '' ? what : `${what} (${convertToOneLine(first, 200)})`,
        }),
      )
  }
  return results
}

/** By kpt's annotations during a render, otherwise by the nearest Kptfile. */
function createPackageLookup(items: readonly YamlMap[]): (item: YamlMap) => string {
  const folderOf = (item: YamlMap): string => getItemFile(item).path.replace(/[^/]*$/, '')
  const folders = new Set(
    items.filter((item) => findTextAt(item, 'kind') === 'Kptfile').map(folderOf),
  )
  return (item) => {
    const text = findAnnotation(item, PACKAGE_PATH)
    if (text !== undefined) return text
    let folder = folderOf(item)
    while (folder !== '' && !folders.has(folder)) folder = folder.replace(/[^/]*\/$/, '')
    return folder
  }
}

function createFindingResult(item: YamlMap, { path, message, severity }: Finding): FunctionResult {
  const { path: file, index } = getItemFile(item)
  const name =
    findEntry(item, 'metadata') === undefined ? undefined : findTextAt(item, 'metadata', 'name')
  const given = Object.entries({
    apiVersion: findTextAt(item, 'apiVersion'),
    kind: findTextAt(item, 'kind'),
    name,
  })
  return {
    message,
    severity: severity ?? 'error',
    resourceRef: Object.fromEntries(
      given.flatMap(([key, text]) =>
        text === undefined ? [] : [[key, convertToOneLine(text, 253)]],
      ),
    ),
    ...(path === undefined ? {} : { field: { path } }),
    ...(file === ''
      ? {}
      : { file: { path: file, ...(/^[0-9]{1,9}$/.test(index) ? { index: Number(index) } : {}) } }),
  }
}
