import { getKey, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import type { InventoryRef } from '@backporch/kyaml/resource'
import {
  convertToText,
  getObjectField,
  getTextField,
  getTextMapField,
  isEmpty,
  listObjectFields,
} from './kptfile-fields.ts'

/** Every part that is given must match (kpt `api/kptfile/v1/types.go`). */
export interface FunctionSelector {
  readonly apiVersion: string | undefined
  readonly kind: string | undefined
  readonly name: string | undefined
  readonly namespace: string | undefined
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
}

export interface PipelineFunction {
  /** Exactly one of image and exec is given. */
  readonly image: string | undefined
  readonly exec: string | undefined
  /** kpt from 1.0.0-beta.62. */
  readonly tag: string | undefined
  readonly configPath: string | undefined
  /** Numbers and booleans are texts, as in kpt. */
  readonly configMap: ReadonlyMap<string, string>
  /** One must match, unless there are none. */
  readonly selectors: readonly FunctionSelector[]
  readonly exclude: readonly FunctionSelector[]
  /** kpt evaluates these from 1.0 on: `when`, `selectors[0].resourceFileRegexp`. */
  readonly notEvaluated: readonly string[]
  /** From 1. */
  readonly line: number
}

export interface Kptfile {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly pipeline: {
    readonly mutators: readonly PipelineFunction[]
    readonly validators: readonly PipelineFunction[]
  }
  /** The older form. */
  readonly inventory: InventoryRef | undefined
}

export type Location = readonly (string | number)[]

interface KptfileLocations {
  readonly lineOf: (location: Location) => number
  /** kpt decodes them as texts, so `0x1F` and `yes` stay. */
  readonly textsAt: (location: Location) => ReadonlyMap<string, string>
}

export function buildKptfile(
  value: JsonObject,
  { lineOf, textsAt: writtenAt }: KptfileLocations,
): Kptfile {
  const metadata = getObjectField(value, 'metadata')
  const pipeline = getObjectField(value, 'pipeline')
  const inventory = getKey(value, 'inventory')
  const selectorsAt = (each: JsonObject, location: Location): readonly FunctionSelector[] =>
    listObjectFields(each, String(location.at(-1))).map((one, index) =>
      readSelector(one, (name) => writtenAt([...location, index, name])),
    )
  const functions = (list: string): readonly PipelineFunction[] =>
    listObjectFields(pipeline, list).map((each, index) => ({
      image: getTextField(each, 'image'),
      exec: getTextField(each, 'exec'),
      tag: getTextField(each, 'tag'),
      configPath: getTextField(each, 'configPath'),
      configMap: writtenAt(['pipeline', list, index, 'configMap']),
      selectors: selectorsAt(each, ['pipeline', list, index, 'selectors']),
      exclude: selectorsAt(each, ['pipeline', list, index, 'exclude']),
      notEvaluated: listNotEvaluated(each),
      line: lineOf(['pipeline', list, index]),
    }))
  return {
    name: convertToText(getKey(metadata, 'name')),
    labels: getTextMapField(metadata, 'labels'),
    annotations: getTextMapField(metadata, 'annotations'),
    pipeline: { mutators: functions('mutators'), validators: functions('validators') },
    inventory: isJsonObject(inventory)
      ? {
          namespace: convertToText(getKey(inventory, 'namespace')),
          name: getTextField(inventory, 'name'),
          id: getTextField(inventory, 'inventoryID'),
        }
      : undefined,
  }
}

/** They decide whether a function runs, and on what. */
function listNotEvaluated(each: JsonObject): readonly string[] {
  const isThere = (object: JsonObject, name: string): boolean => !isEmpty(getKey(object, name))
  const own = ['when', 'resourceFileRegexp', 'configRef'].filter((name) => isThere(each, name))
  const selecting = ['selectors', 'exclude'].flatMap((list) =>
    listObjectFields(each, list).flatMap((one, index) =>
      isThere(one, 'resourceFileRegexp') ? [`${list}[${index}].resourceFileRegexp`] : [],
    ),
  )
  return [...own, ...selecting]
}

function readSelector(
  each: JsonObject,
  textsOf: (name: string) => ReadonlyMap<string, string>,
): FunctionSelector {
  return {
    apiVersion: getTextField(each, 'apiVersion'),
    kind: getTextField(each, 'kind'),
    name: getTextField(each, 'name'),
    namespace: getTextField(each, 'namespace'),
    labels: textsOf('labels'),
    annotations: textsOf('annotations'),
  }
}
