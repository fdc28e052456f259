#!/usr/bin/env node
/** `kpt fn eval --exec functions/upsert-resource/run.ts`, or the entry of a container image. */
import { runFunction } from '../sdk/run-function.ts'
import { upsertResource } from './fn.ts'

await runFunction(upsertResource)
