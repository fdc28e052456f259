import { getItemFile } from '@backporch/kpt/function'
import { convertToOneLine } from '@backporch/kyaml/text'
import {
  findNodeAt,
  findTextAt,
  getYamlKey,
  resolveAlias,
  type YamlMap,
} from '@backporch/kyaml/yaml'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { readDrift, type TreeReading } from '../../record/read-tree.ts'

export type Risk = Change['risk']

/** Most severe first. */
export const RISKS: readonly Risk[] = ['critical', 'high', 'medium', 'low']

export interface Gate {
  readonly minimumRisk: Risk
  readonly unknown: 'pass' | 'fail'
  readonly drift: DriftReport | DriftRecord | undefined
}

export function readGate(
  config: YamlMap | undefined,
  items: readonly YamlMap[],
): Gate | readonly string[] {
  const given = readDrift(config)
  if (given !== undefined)
    return addDrift({ minimumRisk: 'low', unknown: 'pass' }, given, 'functionConfig')
  if (config !== undefined && findTextAt(config, 'kind') !== 'ConfigMap')
    return [
      'functionConfig is neither a ConfigMap nor a DriftReport or DriftRecord of backporch.dev/v1alpha1',
    ]
  const unknownKeys = listDataKeys(config).filter((key) => !KEYS.has(key))
  if (unknownKeys.length > 0)
    return unknownKeys.map(
      (key) => `unknown key ${JSON.stringify(key)}: wanted minimumRisk, unknown or report`,
    )
  const text = (key: string): string => findTextAt(config, 'data', key) ?? ''
  const minimumRisk = RISKS.find((risk) => risk === (text('minimumRisk') || 'low'))
  if (minimumRisk === undefined)
    return [
      `minimumRisk is ${quoteText(text('minimumRisk'))}: wanted low, medium, high or critical`,
    ]
  const unknown = (['pass', 'fail'] as const).find(
    (choice) => choice === (text('unknown') || 'pass'),
  )
  if (unknown === undefined)
    return [`unknown is ${quoteText(text('unknown'))}: wanted pass or fail`]
  const path = text('report') || undefined
  if (path === undefined) return { minimumRisk, unknown, drift: undefined }
  const item = items.find(
    (each) => getItemFile(each).path === path && readDrift(each) !== undefined,
  )
  const read = readDrift(item)
  if (read === undefined)
    return [
      `report is ${quoteText(path)}: the resources contain no such DriftReport or DriftRecord`,
    ]
  return addDrift({ minimumRisk, unknown }, read, path)
}

const KEYS = new Set(['minimumRisk', 'unknown', 'report'])

function listDataKeys(config: YamlMap | undefined): readonly string[] {
  const data = findNodeAt(config, 'data')
  const map = data === undefined ? undefined : resolveAlias(data)
  return map?.kind === 'map'
    ? map.entries.map(({ key }) => convertToOneLine(getYamlKey(key), 80))
    : []
}

function addDrift(
  gate: Omit<Gate, 'drift'>,
  read: TreeReading<DriftReport | DriftRecord>,
  where: string,
): Gate | readonly string[] {
  if ('value' in read) return { ...gate, drift: read.value }
  return read.problems.map(
    ({ path, message }) =>
      `${convertToOneLine(where)}${path === undefined ? '' : ` ${path}`}: ${message}`,
  )
}

function quoteText(text: string): string {
  return JSON.stringify(convertToOneLine(text, 80))
}
