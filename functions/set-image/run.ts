#!/usr/bin/env node
import { runFunction } from '../sdk/run-function.ts'
import { setImage } from './fn.ts'

await runFunction(setImage)
