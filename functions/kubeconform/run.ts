#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { runKubeconform } from './fn.ts'

await runFunction(runKubeconform)
