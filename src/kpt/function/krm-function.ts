/**
 * https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md
 */
import type { Json } from '@backporch/kyaml/json'
import type { YamlMap } from '@backporch/kyaml/yaml'

export interface FunctionInput {
  /** With location annotations (docs/facts/kpt-render.md). May be changed in place. */
  readonly items: readonly YamlMap[]
  readonly config: YamlMap | undefined
}

/** Of a `ResourceList`. */
export interface FunctionResult {
  readonly message: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly resourceRef?: {
    readonly apiVersion?: string
    readonly kind?: string
    readonly name?: string
    readonly namespace?: string
  }
  readonly field?: {
    readonly path: string
    readonly currentValue?: Json
    readonly proposedValue?: Json
  }
  readonly file?: { readonly path: string; readonly index?: number }
  readonly tags?: { readonly [name: string]: string }
}

export interface FunctionOutput {
  /** In the new order; a missing object is deleted. */
  readonly items: readonly YamlMap[]
  readonly results: readonly FunctionResult[]
  /** Not 0: the items are ignored, and the pipeline stops. Built-in functions use 1. */
  readonly exitCode: number
  readonly stderr: string
}

/**
 * Pure and synchronous. Never throws for bad input: a bad config is a result of severity error with
 * exit code 1.
 */
export type KrmFunction = (input: FunctionInput) => FunctionOutput

export function createSuccess(
  items: readonly YamlMap[],
  results: readonly FunctionResult[] = [],
): FunctionOutput {
  return { items, results, exitCode: 0, stderr: '' }
}

export function createFailedOutput(
  items: readonly YamlMap[],
  message: string,
  more: Partial<FunctionResult> = {},
): FunctionOutput {
  return { items, results: [{ message, severity: 'error', ...more }], exitCode: 1, stderr: '' }
}
