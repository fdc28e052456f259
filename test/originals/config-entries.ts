/** How the configs of functions are written. */

/** The entry of a pipeline, without the function, and the file that `configPath` names. */
export interface FunctionConfig {
  /** Text values are written with quotes. */
  readonly configMap?: { readonly [key: string]: string }
  /** Text of the file `config.yaml`. */
  readonly file?: string
}

export const map = (configMap: { readonly [key: string]: string }): FunctionConfig => ({
  configMap,
})
export const file = (text: string): FunctionConfig => ({ file: text })
/** Of a config that is not applied. */
export const LOCAL = 'annotations: {config.kubernetes.io/local-config: "true"}'
/** An object of a function's own kind. */
export const own = (kind: string, rest: string): FunctionConfig =>
  file(
    `apiVersion: fn.kpt.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: config, ${LOCAL}}\n${rest}`,
  )

export interface FunctionConfigs {
  /** With these the function does its work, on one package or another. */
  readonly working: readonly FunctionConfig[]
  /** With these it fails, or does nothing: a few packages are enough. */
  readonly wrong: readonly FunctionConfig[]
  /** Text of a file `beside.yaml` in every package. */
  readonly beside?: string
}
