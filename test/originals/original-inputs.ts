/** What every release of a function is run on: odd packages beside the function's configs, at least 300 for each function. */
import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { FunctionConfig } from './config-entries.ts'
import { FUNCTION_CONFIGS } from './function-configs.ts'
import { chooserOf, type OddPackage, oddPackage } from './odd-packages.ts'

const WITH_WORKING_CONFIGS = 320
const WITH_EACH_WRONG_CONFIG = 2

/** Files of a package by path. Its pipeline names the function by `exec`, so that the text is that of every release. */
export interface OriginalInput {
  readonly number: number
  readonly files: OddPackage
}

export const FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTION_CONFIGS)

/** Empty for a function without configs. */
export function inputsOf(name: string): readonly OriginalInput[] {
  const { working, wrong, beside } = FUNCTION_CONFIGS[name] ?? {
    working: [],
    wrong: [],
    beside: undefined,
  }
  const configs = [
    ...Array.from(
      { length: working.length === 0 ? 0 : WITH_WORKING_CONFIGS },
      (_, number) => working[number % working.length] ?? {},
    ),
    ...wrong.flatMap((config) => Array.from({ length: WITH_EACH_WRONG_CONFIG }, () => config)),
  ]
  return configs.map((config, number) => ({
    number,
    files: {
      Kptfile: kptfileOf(name, config),
      ...oddPackage(chooserOf(number)),
      ...(beside === undefined ? {} : { 'beside.yaml': beside }),
      ...(config.file === undefined ? {} : { 'config.yaml': config.file }),
    },
  }))
}

function kptfileOf(name: string, { configMap, file }: FunctionConfig): string {
  const step = {
    exec: name,
    ...(configMap === undefined ? {} : { configMap }),
    ...(file === undefined ? {} : { configPath: 'config.yaml' }),
  }
  return stringify(
    {
      apiVersion: 'kpt.dev/v1',
      kind: 'Kptfile',
      metadata: { name: 'package' },
      pipeline: { mutators: [step] },
    },
    { defaultStringType: 'PLAIN', lineWidth: 0 },
  )
}

/** Whether a recording was made of other inputs. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12)
}
